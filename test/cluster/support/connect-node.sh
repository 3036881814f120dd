# sh connect-node.sh PID ADDRESS PODS FIRST
# Connects a node's own network, that of process PID, to the bridge of the cluster: the node gets ADDRESS, its pods have PODS, and
# the API server is at the FIRST node.
set -eu
pid=$1
address=$2
link=node${address##*.}
inside() {
  nsenter --target="$pid" --net "$@"
}
ip link add "$link" type veth peer name eth0 netns "$pid"
ip link set "$link" master node0 up
ip route replace "$3" via "$address"
inside ip link set lo up
inside ip address add "$address/24" dev eth0
inside ip link set eth0 up
inside ip route add 10.96.0.0/16 via "$4"
inside sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
