// node scripts/release/krew.mjs TARBALL: the manifest of the plugin `kubectl registrar` for krew's index, from the packed package that
// a release has attached.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [tarball] = process.argv.slice(2);
const sha256 = createHash("sha256").update(readFileSync(tarball)).digest("hex");
const { version, homepage } = JSON.parse(readFileSync("package.json", "utf8"));
process.stdout.write(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: registrar
spec:
  version: v${version}
  homepage: ${homepage}
  shortDescription: Find out why a CSI driver is not registered
  description: |
    Looks at all nodes of a cluster, at one node, or at manifests before they are applied, and names what keeps a CSI driver
    from being registered with kubelet, or what another node-driver-registrar changes.
  caveats: |
    Needs Node.js 20.19 or newer in PATH. Begin with: kubectl registrar doctor --cluster
  platforms:
    - selector:
        matchExpressions:
          - { key: os, operator: In, values: [linux, darwin] }
      uri: ${homepage}/releases/download/v${version}/${basename(tarball)}
      sha256: ${sha256}
      files:
        - { from: package/dist/*, to: dist }
        - { from: package/LICENSE, to: . }
      bin: dist/cli.js
`);
