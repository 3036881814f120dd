import { join } from "node:path";
import { isPattern, matchSegment, segmentsOf } from "../../host-path/path-pattern";
import { namesIn, statsOf } from "../../unix/files";

/** More than a node has drivers. */
const MAX_SOCKETS = 500;

/** The sockets that fit a pattern, at this moment. */
export function socketsFitting(pattern: string): readonly string[] {
  const paths = segmentsOf(pattern).reduce<readonly string[]>(
    (folders, segment) =>
      isPattern(segment)
        ? folders.flatMap((folder) =>
            namesIn(folder)
              .filter((name) => matchSegment(segment, name) !== undefined)
              .map((name) => join(folder, name)),
          )
        : folders.map((folder) => join(folder, segment)),
    ["/"],
  );
  return paths.filter((path) => statsOf(path)?.isSocket()).slice(0, MAX_SOCKETS);
}
