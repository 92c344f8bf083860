// Surface objects: reads and writes of every geometry and element type, with each boundary mode.
template <class T> __device__ void every_geometry(cudaSurfaceObject_t s, T* p, int x, int y, int z, int layer) {
  p[0] = surf1Dread<T>(s, x);
  p[1] = surf1Dread<T>(s, x, cudaBoundaryModeZero);
  p[2] = surf1DLayeredread<T>(s, x, layer, cudaBoundaryModeClamp);
  p[3] = surf2Dread<T>(s, x, y, cudaBoundaryModeTrap);
  p[4] = surf2Dread<T>(s, x, y, cudaBoundaryModeZero);
  p[5] = surf2DLayeredread<T>(s, x, y, layer, cudaBoundaryModeClamp);
  p[6] = surf3Dread<T>(s, x, y, z);
  p[7] = surfCubemapread<T>(s, x, y, layer);
  p[8] = surfCubemapLayeredread<T>(s, x, y, layer, cudaBoundaryModeZero);
  surf1Dwrite(p[0], s, x);
  surf1Dwrite(p[0], s, x, cudaBoundaryModeZero);
  surf1DLayeredwrite(p[1], s, x, layer, cudaBoundaryModeClamp);
  surf2Dwrite(p[2], s, x, y, cudaBoundaryModeTrap);
  surf2DLayeredwrite(p[3], s, x, y, layer, cudaBoundaryModeZero);
  surf3Dwrite(p[4], s, x, y, z, cudaBoundaryModeClamp);
  surfCubemapwrite(p[5], s, x, y, layer);
  surfCubemapLayeredwrite(p[6], s, x, y, layer, cudaBoundaryModeZero);
}

#define KERNEL(name, type) \
  __global__ void name(cudaSurfaceObject_t s, type* p, int x, int y, int z, int layer) { every_geometry<type>(s, p, x, y, z, layer); }
KERNEL(char_, signed char)
KERNEL(uchar2_, uchar2)
KERNEL(uchar4_, uchar4)
KERNEL(short_, short)
KERNEL(ushort2_, ushort2)
KERNEL(short4_, short4)
KERNEL(int_, int)
KERNEL(uint2_, uint2)
KERNEL(int4_, int4)
KERNEL(float_, float)
KERNEL(float2_, float2)
KERNEL(float4_, float4)
KERNEL(longlong_, long long)
KERNEL(ulonglong2_, ulonglong2)

// Formatted stores, reductions and queries, for which CUDA C++ has no functions.
__global__ void by_assembly(cudaSurfaceObject_t s, int x, int y, unsigned v, unsigned* out) {
  asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v));
  asm volatile("sust.p.2d.v4.b32.clamp [%0, {%1, %2}], {%3, %3, %3, %3};" ::"l"(s), "r"(x), "r"(y), "r"(v));
  asm volatile("sured.b.add.2d.u32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v));
  asm volatile("sured.b.max.1d.s32.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
  asm volatile("sured.p.and.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v));
  asm("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(s));
  asm("suq.channel_order.b32 %0, [%1];" : "=r"(out[1]) : "l"(s));
}
