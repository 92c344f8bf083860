// Texture objects: every geometry, several element types, and every way to choose the level.
template <class T> __device__ void every_geometry(cudaTextureObject_t t, T* out, float x, float y, float z, int layer) {
  out[0] = tex1Dfetch<T>(t, layer);
  out[1] = tex1D<T>(t, x);
  out[2] = tex1DLod<T>(t, x, y);
  out[3] = tex1DGrad<T>(t, x, y, z);
  out[4] = tex1DLayered<T>(t, x, layer);
  out[5] = tex1DLayeredLod<T>(t, x, layer, y);
  out[6] = tex1DLayeredGrad<T>(t, x, layer, y, z);
  out[7] = tex2D<T>(t, x, y);
  out[8] = tex2DLod<T>(t, x, y, z);
  out[9] = tex2DGrad<T>(t, x, y, make_float2(x, y), make_float2(y, z));
  out[10] = tex2DLayered<T>(t, x, y, layer);
  out[11] = tex2DLayeredLod<T>(t, x, y, layer, z);
  out[12] = tex2DLayeredGrad<T>(t, x, y, layer, make_float2(x, y), make_float2(y, z));
  out[13] = tex3D<T>(t, x, y, z);
  out[14] = tex3DLod<T>(t, x, y, z, x);
  out[15] = tex3DGrad<T>(t, x, y, z, make_float4(x, y, z, 0), make_float4(z, y, x, 0));
  out[16] = texCubemap<T>(t, x, y, z);
  out[17] = texCubemapLod<T>(t, x, y, z, x);
  out[18] = texCubemapLayered<T>(t, x, y, z, layer);
  out[19] = texCubemapLayeredLod<T>(t, x, y, z, layer, x);
  out[20] = texCubemapGrad<T>(t, x, y, z, make_float4(x, y, z, 0), make_float4(z, y, x, 0));
  bool resident;
  out[21] = tex2D<T>(t, x, y, &resident);
  if (!resident) out[22] = tex3D<T>(t, x, y, z, &resident);
  if (!resident) out[23] = tex2DLod<T>(t, x, y, z, &resident);
}

#define KERNEL(name, type) \
  __global__ void name(cudaTextureObject_t t, type* out, float x, float y, float z, int layer) { every_geometry<type>(t, out, x, y, z, layer); }
KERNEL(float1_, float)
KERNEL(float2_, float2)
KERNEL(float4_, float4)
KERNEL(int_, int)
KERNEL(int4_, int4)
KERNEL(uint2_, uint2)
KERNEL(short_, short)
KERNEL(ushort4_, ushort4)
KERNEL(char_, signed char)
KERNEL(uchar4_, uchar4)

__global__ void gather(cudaTextureObject_t t, float4* out, int4* iout, uint4* uout, float x, float y) {
  out[0] = tex2Dgather<float4>(t, x, y, 0);
  out[1] = tex2Dgather<float4>(t, x, y, 1);
  iout[0] = tex2Dgather<int4>(t, x, y, 2);
  uout[0] = tex2Dgather<uint4>(t, x, y, 3);
}

// The properties of a texture are instructions of their own.
__global__ void queries(cudaTextureObject_t t, unsigned* out) {
  asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
  asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
  asm("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
  asm("txq.channel_data_type.b32 %0, [%1];" : "=r"(out[3]) : "l"(t));
  asm("txq.channel_order.b32 %0, [%1];" : "=r"(out[4]) : "l"(t));
  asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(out[5]) : "l"(t));
}
