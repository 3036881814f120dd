import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";
import { grouped } from "../grouped";
import { mayMeet } from "../node-rules";
import { together } from "../words";

export const manifestPorts: Check<ManifestFacts> = {
  code: "CSI109",
  name: "manifest-ports",
  verdicts: ({ deployments }) => {
    const serving = deployments.filter(({ settings }) => (settings.http?.port ?? 0) !== 0);
    const byPort = grouped(serving, ({ place, settings, hostNetwork }) => {
      const network = hostNetwork ? "the node" : place.replace(/, container .*$/s, "");
      return `port ${settings.http?.port} of ${network}`;
    });
    return [...byPort].map(([key, group]) => {
      const ones = mayMeet(group);
      const [places, all] = together(ones.map(({ place }) => place));
      return ones.length > 1
        ? problem(places, `${all} serve on ${key}`, "give each another --http-endpoint")
        : undefined;
    });
  },
};
