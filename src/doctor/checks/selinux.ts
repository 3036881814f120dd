import { type Check, ok, unknown, warning } from "../finding";

export const selinux: Check = {
  code: "CSI014",
  name: "selinux",
  verdicts: ({ host: { selinux: facts } }) => {
    if (facts.kind === "off") return ok("SELinux", "is off");
    if (facts.kind === "unknown") return unknown("SELinux", "cannot be seen from here");
    const { mode = "on", label = "an unknown label" } = facts;
    if (mode === "permissive") return ok("SELinux", "is permissive: it forbids nothing");
    const isConfined = /^(container(_\w+)?|svirt_\w+)_t$/.test(label.split(":")[2] ?? "");
    return isConfined
      ? warning(
          "SELinux",
          `is ${mode} and confines us (${label}): the sockets of a privileged driver may be out of our reach`,
          "if something says EACCES, set seLinuxOptions.type: spc_t on the registrar's container",
        )
      : ok("SELinux", `is ${mode}; we run as ${label}; labels of files cannot be seen from here`);
  },
};
