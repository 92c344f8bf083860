__kernel void search(__global const uint *table, int n, __global const uint *keys, __global int *found, int count) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    uint key = keys[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low < n && table[low] == key ? low : -1;
}
