// Structs with holes are copied, member by member and as a whole: only what is used counts.
#include "memcheck.h"

struct Particle {
    char kind;
    int id;
    double mass;
    short charge;
};

__global__ void make(Particle *p) {
    Particle &q = p[threadIdx.x];
    q.kind = 1;
    q.id = threadIdx.x;
    if (WRONG_OR_RIGHT(0, 1)) q.mass = 2;
    q.charge = -1;
}

__global__ void copy(const Particle *from, Particle *to) { to[threadIdx.x] = from[threadIdx.x]; }

__global__ void use(const Particle *p, int *out) {
    Particle q = p[threadIdx.x];
    if (q.kind == 1 && q.id >= 0 && q.charge < 0) atomicAdd(out, 1);
}

__global__ void weigh(const Particle *p, int *out) {
    if (p[threadIdx.x].mass > 1) atomicAdd(out + 1, 1); //~ ERROR undefined-branch
}

struct alignas(16) Quad {
    float x, y, z, w;
};

// Three of four elements of vectors.
__global__ void three(float4 *v) {
    float *f = (float *)&v[threadIdx.x];
    f[0] = 1, f[1] = 2, f[2] = 3;
    if (WRONG_OR_RIGHT(0, 1)) f[3] = 4;
}

__global__ void norm(const float4 *v, int *out) {
    float4 q = v[threadIdx.x];
    if (q.x + q.y + q.z > 5) atomicAdd(out, 1);
}

__global__ void norm4(const float4 *v, int *out) {
    float4 q = v[threadIdx.x];
    if (q.x + q.y + q.z + q.w > 5) atomicAdd(out, 1); //~ ERROR undefined-branch
}

int main() {
    Particle *p = fresh<Particle>(32), *q = fresh<Particle>(32), *r = fresh<Particle>(32);
    make<<<1, 32>>>(p);
    copy<<<1, 32>>>(p, q);
    cudaMemcpy(r, q, 32 * sizeof(Particle), cudaMemcpyDeviceToDevice);
    use<<<1, 32>>>(r, device<int>(2));
    weigh<<<1, 32>>>(r, device<int>(2));
    float4 *v = fresh<float4>(32);
    three<<<1, 32>>>(v);
    norm<<<1, 32>>>(v, device<int>(1));
    norm4<<<1, 32>>>(v, device<int>(1));
    return finish();
}
