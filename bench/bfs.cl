__kernel void visit(__global const int *starts, __global const int *neighbours, __global int *levels, int n,
                    int level) {
    int node = get_global_id(0);
    if (node >= n || levels[node] != level)
        return;
    for (int i = starts[node]; i < starts[node + 1]; i++)
        if (levels[neighbours[i]] < 0)
            levels[neighbours[i]] = level + 1;
}
