import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestPorts: Check<ManifestFacts> = {
  code: "CSI109",
  name: "manifest-ports",
  asks: "Whether registrars that share a network have the same HTTP port.",
  matters:
    "The second cannot listen: in a pod its containers share one network, with `hostNetwork` all pods of a node do.",
  fix: "Give each another `--http-endpoint`.",
  verdicts: ({ deployments }) => {
    const byPort = new Map<string, readonly string[]>();
    for (const { place, settings, hostNetwork } of deployments) {
      if (settings.httpPort === undefined || settings.httpPort === 0) continue;
      const network = hostNetwork ? "the node" : place.replace(/, container .*$/s, "");
      const key = `port ${settings.httpPort} of ${network}`;
      byPort.set(key, [...(byPort.get(key) ?? []), place]);
    }
    return [...byPort].flatMap(([key, places]) =>
      places.length > 1
        ? [problem(places.join(" and "), `both serve on ${key}`, "give one another --http-endpoint")]
        : [],
    );
  },
};
