__kernel void compare(__global uint *values, int stage, int distance_log) {
    int i = get_global_id(0), distance = 1 << distance_log;
    int left = (i >> distance_log << (distance_log + 1)) + (i & (distance - 1)), right = left + distance;
    uint a = values[left], b = values[right];
    bool is_up = (i >> stage & 1) == 0;
    if ((a > b) == is_up) {
        values[left] = b;
        values[right] = a;
    }
}
