# sh enter.sh ROOT ro|rw [ro|rw SOURCE TARGET]... -- PROGRAM [ARGUMENT]...
# In mount and PID namespaces of its own: makes the folder ROOT the root, mounts what a pod has mounted, and becomes the
# program, as a container runtime does. The targets are there already. Nothing of the caller's environment gets in.
set -eu
root=$1 access=$2
shift 2
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  mount --bind "$2" "$root$3"
  # In a user namespace a remount must repeat what the host has forbidden there; no mount of ours needs either.
  [ "$1" = rw ] || mount -o remount,bind,ro,nosuid,nodev "$root$3"
  shift 3
done
shift
# Where parts of the host's /proc are hidden, as in a container, an ordinary user gets no new one.
mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
[ "$access" = rw ] || mount -o remount,bind,ro,nosuid,nodev "$root"
exec env -i PATH="$PATH" chroot "$root" "$@"
