import { Socket } from "node:net";
import { createKubeletClients } from "../../../src/registrar/registration/kubelet-clients";

const clientWith = (authority?: string) => ({ socket: new Socket(), authority: () => authority });

const path = "/registration/x-reg.sock";

test.each([
  ["localhost", false],
  [undefined, false],
  ["", false],
  ["%2Fprobe%2Fx-reg.sock", true],
  ["/probe/x-reg.sock", true],
  ["/k/y-reg.sock", false],
  ["%2", false],
])(
  "before kubelet is known, a client with authority %j is waited for: %s, afterwards not",
  (authority, is) => {
    const clients = createKubeletClients();
    const [kubelet, other] = [clientWith("%2Fk%2Fx-reg.sock"), clientWith(authority)];
    clients.asked(other, path);
    expect([clients.isKubelet(other), clients.isAsking]).toEqual([true, is]);
    clients.asked(kubelet, path);
    expect([clients.isAsking, clients.isKnown]).toEqual([true, false]);
    clients.reported(kubelet);
    expect([clients.isAsking, clients.isKnown]).toEqual([false, true]);
    clients.asked(other, path);
    expect(clients.isAsking).toBe(authority === "/k/y-reg.sock");
  },
);

test("the end of a connection over which kubelet called is one event", () => {
  const clients = createKubeletClients();
  const [kubelet, other] = [clientWith("%2Fk%2Fx-reg.sock"), clientWith("localhost")];
  const onEnd = jest.fn();
  clients.onEnd(onEnd);
  for (const client of [kubelet, kubelet, other]) clients.asked(client, path);
  for (const client of [other, kubelet, kubelet]) clients.ended(client);
  expect(onEnd).toHaveBeenCalledTimes(1);
  expect(clients.isAsking).toBe(false);
  kubelet.socket.destroy();
  clients.asked(kubelet, path);
  expect(clients.isAsking).toBe(false);
});
