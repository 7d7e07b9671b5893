"""Trees as arrays of parents."""

import numpy as np

from genobit.data.topology import children, is_binary, tips

#     8
#   / | \
#  6  2  7        6: 0 1, 7: 3 4 5
PARENTS = np.array([6, 6, 8, 7, 7, 7, 8, 8, -1])


def test_children_of_each_node():
    found = children(PARENTS)
    assert [found.of(node).tolist() for node in range(9)] == [
        *[[] for _ in range(6)],
        [0, 1],
        [3, 4, 5],
        [2, 6, 7],
    ]


def test_tips_come_first():
    assert tips(PARENTS) == 6
    assert tips(np.array([-1])) == 1


def test_a_root_of_three_branches_is_binary_an_inner_node_of_three_is_not():
    assert not is_binary(children(PARENTS))
    assert is_binary(children(np.array([4, 4, 5, 5, 5, -1])))
    assert is_binary(children(np.array([2, 2, -1])))
