import { type Check, ok, problem, warning } from "../finding";
import { grouped } from "../grouped";
import { answeringIn } from "../whose";

export const registrationDuplicates: Check = {
  code: "CSI018",
  name: "registration-duplicates",
  verdicts: (facts) => {
    const byName = grouped(answeringIn(facts), ({ info }) => info.name);
    return [...byName].map(([name, ones]) => {
      const isTargets = ones.some((one) => one.isTargets);
      if (ones.length === 1) return isTargets ? ok(name, "has one living registration socket") : undefined;
      const paths = ones.map(({ path }) => path);
      return (isTargets ? problem : warning)(
        name,
        `has ${paths.length} living registration sockets: ${paths.join(", ")}; kubelet refuses all but one, and when any goes the driver is deregistered`,
        "leave one registrar to each driver on a node: look for a second DaemonSet",
      );
    });
  },
};
