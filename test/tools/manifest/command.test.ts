import { runCommand } from "../../support/run-command";
import { parseAll } from "../../support/yaml";
import { startCommand } from "../support/command";

const REQUIRED = ["--driver-name=x.csi.example.com", "--image=registrar:v1", "--driver-image=x:v1"];
const objectsIn = (text: string) => parseAll(text);
const kindsIn = (text: string) =>
  objectsIn(text)
    .map(({ kind }) => kind)
    .join(" ");

const LINE = REQUIRED.join(" ");
const READINESS = ["--startup-taint={driver}/agent-not-ready", "--node-condition={driver}/Registered"];
const CONFINED = "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ClusterRole ClusterRoleBinding";

test.each([
  [LINE, "DaemonSet"],
  [`${LINE} --node-wide=false`, "DaemonSet"],
  ["--node-wide=true --image=r:1", "DaemonSet"],
  // A policy comes before the rights that it confines.
  [`${LINE} ${READINESS.join(" ")}`, `ServiceAccount ${CONFINED} DaemonSet`],
])("%s writes %s to stdout, and nothing else", async (words, kinds) => {
  const { status, stdout, stderr } = await runCommand("manifest", ...words.split(" "));
  expect([status, stderr, kindsIn(stdout)]).toEqual([0, "", kinds]);
  const policies = objectsIn(stdout).filter(({ kind }) => /^Validating/.test(kind));
  for (const { apiVersion } of policies) expect(apiVersion).toBe("admissionregistration.k8s.io/v1");
});

// GitOps tools deploy what differs, so the same words must write the same text at any time and place.
test.each([LINE, "--image-policy --image=r:1 --arg=--v=2 --namespace=b --namespace=a"])(
  "%s writes the same in every time zone and language, and no word that Flux replaces",
  async (words) => {
    const writtenWith = async (TZ: string, LC_ALL: string) => {
      using command = startCommand(["manifest", ...words.split(" ")], { TZ, LC_ALL });
      expect(await command.exitCode()).toBe(0);
      return command.lines.join("\n");
    };
    const written = await writtenWith("Pacific/Kiritimati", "tr_TR.UTF-8");
    expect(await writtenWith("America/Los_Angeles", "C")).toBe(written);
    expect(written).toMatch(/^kind: /m);
    expect(written).not.toMatch(/\b20\d\d-\d\d|\$\{/);
  },
);

test.each([
  ["ServiceAccount RoleBinding DaemonSet", LINE],
  [`ServiceAccount RoleBinding ${CONFINED} DaemonSet`, `--node-wide --image=r:1 ${READINESS.join(" ")}`],
])(
  "OpenShift: %s, by %s: an account that may use the SCC, and its type for SELinux",
  async (kinds, words) => {
    const runFor = (name: string) => runCommand("manifest", ...words.split(" "), `--distribution=${name}`);
    const { stdout } = await runFor("openshift");
    expect(kindsIn(stdout)).toBe(kinds);
    const [account, binding, ...others] = objectsIn(stdout);
    const { metadata, spec } = others.at(-1);
    expect(account.metadata).toEqual({ name: metadata.name, namespace: metadata.namespace });
    expect(binding).toMatchObject({
      metadata: account.metadata,
      roleRef: { kind: "ClusterRole", name: "system:openshift:scc:privileged" },
      subjects: [{ kind: "ServiceAccount", ...account.metadata }],
    });
    const { annotations } = spec.template.metadata;
    expect(annotations).toMatchObject({ "openshift.io/required-scc": "privileged" });
    expect(spec.template.spec.serviceAccountName).toBe(metadata.name);
    const [{ securityContext }] = spec.template.spec.containers;
    expect(securityContext).toMatchObject({
      seLinuxOptions: { type: "spc_t" },
      capabilities: { drop: ["ALL"] },
    });
    const elsewhere = await runFor("k0s");
    expect(elsewhere.stdout).not.toMatch(/openshift|kind: RoleBinding|seLinuxOptions: \{type: spc_t\}$/m);
  },
);
