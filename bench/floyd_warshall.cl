__kernel void relax(__global int *distances, __global int *through, int n, int k) {
    int x = get_global_id(0), y = get_global_id(1);
    int other = distances[y * n + k] + distances[k * n + x];
    if (other < distances[y * n + x]) {
        distances[y * n + x] = other;
        through[y * n + x] = k;
    }
}
