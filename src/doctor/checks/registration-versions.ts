import { messageOf } from "../../errors";
import { validateVersions } from "../../kubelet-rules/driver-versions";
import { type Check, ok, problem, warning } from "../finding";
import { answeringIn } from "../whose";

export const registrationVersions: Check = {
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
