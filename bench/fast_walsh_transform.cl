__kernel void butterfly(__global float *values, int distance) {
    int i = get_global_id(0);
    int left = i / distance * 2 * distance + i % distance, right = left + distance;
    float a = values[left], b = values[right];
    values[left] = a + b;
    values[right] = a - b;
}
