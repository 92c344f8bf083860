// OpenCL C, which clang compiles to PTX with pointer attributes and address spaces of its own.
__constant int offsets[4] = {1, 2, 3, 4};
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void scale(__global const float4* in, __global float4* out, __local float* scratch, float by, uint n) {
  size_t i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * 64;
  scratch[i & 63] = in[i].x;
  __syncthreads();
  if (i < n) out[i] = in[i] * by + scratch[(i + 1) & 63] + offsets[i & 3];
}
__kernel void vectors(__global uchar16* a, __global const ushort3* b, __global ushort3* c, __global long2* l) {
  int i = __nvvm_read_ptx_sreg_tid_x();
  a[i] = a[i].s0123456789abcdef + (uchar16)(3);
  c[i] = b[i].zyx;
  l[i] = l[i].yx;
}
