# sh janitor.sh FOLDER GROUP...
# Waits until its stdin ends, which it does with the process that holds the other end, however that ended. Then removes
# what a cluster leaves when its processes are gone: its control groups and its folder.
cat > /dev/null
folder=$1
shift
tries=0
for group in "$@"; do
  while [ -d "$group" ] && ! find "$group" -depth -type d -exec rmdir {} + 2> /dev/null; do
    tries=$((tries + 1))
    [ "$tries" -gt 300 ] && break
    sleep 0.1
  done
done
rm -rf "$folder"
