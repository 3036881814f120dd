import { runCommand } from "../support/run-command";

type Row = readonly [words: string, complaint: string | RegExp];

/** Rows whose words follow these. */
const behind = (words: string, rows: readonly Row[]) =>
  rows.map(([more, complaint]): Row => [`${words} ${more}`, complaint]);

const NO_VALUE = "is not one of its values";
const SEE_DRIVER = "see registrar driver --help";
const OFFICIAL = "rancher/mirrored-sig-storage-csi-node-driver-registrar:v2.12.0";

test.each<Row>([
  ...behind("doctor", [
    ["--cluster=yes", '--cluster: "yes" is not true or false; leave the value out for true'],
    ["--csi-address=tcp://x", /--csi-address: .*not a unix socket path/],
    ["--outputs=json", /did you mean --output\?/],
    ["--cluster -f x.yaml", "--file: cannot be used with --cluster"],
    ["-f=x.yaml --cluster=false --csi-address=/x", "--csi-address: cannot be used with -f"],
    ["-f=x.yaml --host-root=/x", "--host-root: cannot be used with -f"],
    ["--cluster --timeout=2s", "--timeout: cannot be used with --cluster"],
    ["--cluster --node=", "--node: it must not be empty"],
    ["-f=x.yaml --image=", '--image "" is not an image reference: give NAME:TAG'],
    ["--swap", "--swap: works only with --cluster or -f"],
    ["--node=x", "--node: works only with --cluster"],
    [`-f x --swap=${OFFICIAL}`, /--swap: ".*" is the official registrar's image; name the one/],
    ["-f x --swap=false", ': --swap "false" has no tag and no digest: '],
    ["-f x --swap=a%b", ': --swap "a%b" is not an image reference: give NAME:TAG or NAME@DIGEST'],
    ["-f x --swap=x/y", ': --swap "x/y" has no tag and no digest: '],
    ["-f x --swap --image=x/livenessprobe:v2", "is another sidecar, which a registrar c"],
    ["-f x --swap x/y:v1", /: --swap takes its value after "=": write --swap=x\/y:v1$/m],
  ]),
  ["status --timeout 0", "--timeout: it must be greater than 0"],
  ["driver", `it needs --csi-address and --name; ${SEE_DRIVER}`],
  ["driver --csi-address x --name", `--name needs a value; ${SEE_DRIVER}`],
  ["driver --csi-address= --name x", '--csi-address: "" is not the path of a unix socket, 107 bytes at most'],
  ...behind("driver --csi-address x --name y", [
    ["--delay Probe=5", '--delay: "5" is not a duration; write 500ms, 2s or 1m30s'],
    ["--max-volumes -1", '--max-volumes: "-1" is not a whole number'],
    ["--topology z=a --topology z=b", '--topology: "z" is given twice; give it one value'],
    ["--topology zone", '--topology: "zone" must have the form KEY=VALUE'],
    ["--delay NodeGetInf=1s", `--delay: "NodeGetInf" ${NO_VALUE}; did you mean NodeGetInfo?`],
    ["--error Probe=unavailable", `--error: "unavailable" ${NO_VALUE}; did you mean UNAVAILABLE?`],
    ["--hang Probe:0", '--hang: "Probe:0" must have the form METHOD[:TIMES]'],
    ["--hang Probe:often", '--hang: "Probe:often" must have the form METHOD[:TIMES]'],
  ]),
  ["kubelet --plugin-registration-path=", '--plugin-registration-path: "" is not the path of a directory'],
  ...behind("kubelet --plugin-registration-path x", [
    ["--refuse x --refuse-times 0", "--refuse-times: it must be greater than 0"],
    ["--refuse-times 1", "--refuse-times needs --refuse beside it; see registrar kubelet --help"],
    ["--kubelet-version 1.12", "is not a kubelet's version from 1.13 on"],
    ["--print csinode -o json", "--print is for text output: in JSON the events contain the objects"],
    ["--until=x.csi", "must have the form registered=NAME"],
    ["--timeout=1s", "--timeout needs --until beside it"],
  ]),
  ["demo --scenario socket-delete", `--scenario: "socket-delete" ${NO_VALUE}; did you mean socket-deleted?`],
  ["demo --scenario a,b", /" is not one of its values: .*, socket-deleted, .*; give one of them$/m],
  ["manifest --node-wide", "it needs --image; see"],
  ["manifest --image-policy --image=registrar", '--image "registrar" has no tag and no digest'],
])("registrar %s ends with 2 and one line, and writes nothing", async (line, complaint) => {
  const { status, stdout, stderr } = await runCommand(...line.split(" "));
  expect(stderr).toMatch(complaint);
  expect(stderr.trimEnd()).not.toContain("\n");
  expect([status, stdout]).toEqual([2, ""]);
});
