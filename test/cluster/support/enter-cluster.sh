# sh enter-cluster.sh VERSION HIERARCHY... -- PROGRAM...
# The inside of a cluster's namespaces: its own /proc, /sys, control groups and network, then PROGRAM as the first process.
# HIERARCHY is NAME=OPTIONS, a hierarchy of cgroup v1; VERSION is 1 or 2.
set -eu
version=$1
shift
mount --make-rprivate /
mount -t sysfs sysfs /sys
if [ "$version" = 1 ]; then
  mount -t tmpfs tmpfs /sys/fs/cgroup
else
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # A group with controllers may hold groups or processes, not both.
  mkdir /sys/fs/cgroup/init
  echo 0 > /sys/fs/cgroup/init/cgroup.procs
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
    echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control
  done
fi
while [ "$1" != -- ]; do
  folder=/sys/fs/cgroup/${1%%=*}
  mkdir "$folder"
  mount -t cgroup -o "${1#*=}" cgroup "$folder"
  shift
done
shift
hostname cluster
ip link set lo up
# The node's address: that of a bridge, because every kernel that can run pods has bridges.
ip link add node0 type bridge
ip addr add 192.168.99.1/24 dev node0
ip addr add 10.96.0.1/32 dev node0 # where pods find the API server
ip link set node0 up
echo 1 > /proc/sys/net/ipv4/ip_forward
exec "$@"
