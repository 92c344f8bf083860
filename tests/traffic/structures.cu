//@ exit: 0
#include "../memcheck/memcheck.h"

// One member of each structure: a sector has eight words, and two of them are used.
struct Point {
    float x, y, z, w;
};

struct Points {
    float x[64], y[64], z[64], w[64];
};

__global__ void move(Point *points, Points *arrays) {
    int i = threadIdx.x;
    WRONG_OR_RIGHT(points[i].x, arrays->x[i]) = 1; //~ ERROR uncoalesced
}

int main() {
    move<<<1, 64>>>(device<Point>(64), device<Points>(1));
    return finish();
}
