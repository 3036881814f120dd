/**
 * Makes `/` the working directory where ours has been removed: Node cannot even say which it is then, and whoever asks
 * for it is thrown out with a stack trace. Answers whether it had to, as relative paths mean something else now.
 */
export function leaveRemovedDirectory(): boolean {
  try {
    process.cwd();
    return false;
  } catch {
    process.chdir("/");
    return true;
  }
}
