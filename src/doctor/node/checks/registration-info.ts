import { messageOf } from "../../../base/errors";
import { validateVersions } from "../../../kubelet-rules/driver-versions";
import { type Check, ok, problem, warning } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { LEAVE_ONE } from "../../rules/duplicates";
import type { Facts } from "../facts";
import { answeringIn } from "../whose";

export const registrationVersions: Check<Facts> = {
  code: "CSI017",
  name: "registration-versions",
  verdicts: (facts) =>
    answeringIn(facts).map(({ info: { name, supportedVersions }, isTargets }) => {
      try {
        validateVersions("ValidatePlugin", name, supportedVersions, undefined);
        return isTargets
          ? ok(name, `offers versions that kubelet accepts: ${supportedVersions.join(", ")}`)
          : undefined;
      } catch (error) {
        const text = `offers versions that kubelet refuses: ${messageOf(error)}`;
        return (isTargets ? problem : warning)(name, text, "offer 1.0.0, as registrars do");
      }
    }),
};

export const registrationDuplicates: Check<Facts> = {
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
        LEAVE_ONE,
      );
    });
  },
};
