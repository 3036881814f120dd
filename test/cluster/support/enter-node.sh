# sh enter-node.sh FOLDER PROGRAM...
# The inside of a node's namespaces. What the node writes to /var and /etc goes below FOLDER, which stays when its power is
# cut, and to /run, which does not; the machine's own file system is read-only here.
set -eu
folder=$1
shift
mount --make-rprivate /
mkdir -p "$folder/var/lib/kubelet" "$folder/var/log" "$folder/kernel" "$folder/etc" "$folder/etc.work"
ln -sfn /run "$folder/var/run"
# kubelet wants these of the kernel, and the machine's are to stay as they are.
mask() {
  name=$(echo "$1" | tr / .)
  echo "$2" > "$folder/kernel/$name"
  mount --bind "$folder/kernel/$name" "/proc/sys/$1"
}
mask vm/overcommit_memory 1
mask vm/panic_on_oom 0
mask kernel/panic 10
mask kernel/panic_on_oops 1
mask kernel/keys/root_maxkeys 1000000
mask kernel/keys/root_maxbytes 25000000
mount --bind "$folder/var" /var
# Some charts want kubelet to make a folder there.
mount -t overlay -o "lowerdir=/etc,upperdir=$folder/etc,workdir=$folder/etc.work" overlay /etc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/tmp
mount -o remount,bind,ro /
# Volumes that a driver's container mounts must reach kubelet and the pods.
mount --make-rshared /
hostname "$(basename "$folder")"
: > /run/entered
exec "$@"
