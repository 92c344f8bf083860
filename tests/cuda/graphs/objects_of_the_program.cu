// An object that graphs keep is destroyed with the last graph or executable graph that keeps it.

#include "../check.h"

static int destroyed = 0;
static void destroy(void *data) { destroyed += *(int *)data; }

int main() {
    int amount = 1;
    cudaUserObject_t object;
    cudaGraph_t graph, copy;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    CHECK(cudaUserObjectCreate(&object, &amount, destroy, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CHECK(cudaGraphClone(&copy, graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(copy));
    REQUIRE(destroyed == 0);
    CHECK(cudaGraphExecDestroy(exec));
    REQUIRE(destroyed == 1);

    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaUserObjectCreate(&object, &amount, destroy, 2, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, 0));
    CHECK(cudaUserObjectRelease(object, 2));
    REQUIRE(destroyed == 1);
    EXPECT(cudaGraphReleaseUserObject(graph, object, 2), cudaErrorInvalidValue);
    CHECK(cudaGraphReleaseUserObject(graph, object, 1));
    REQUIRE(destroyed == 2);
    printf("PASS\n");
    return 0;
}
