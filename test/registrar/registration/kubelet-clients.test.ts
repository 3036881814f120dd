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

test("a connection has one listener, however often kubelet calls, and its end is one event", () => {
  const clients = createKubeletClients();
  const kubelet = clientWith("%2Fk%2Fx-reg.sock");
  const onEnd = jest.fn();
  clients.onEnd(onEnd);
  clients.asked(kubelet, path);
  const before = kubelet.socket.listenerCount("close");
  for (let call = 0; call < 20; call++) {
    if (call % 2 > 0) clients.reported(kubelet);
    clients.asked(kubelet, path);
  }
  expect(kubelet.socket.listenerCount("close")).toBe(before);
  kubelet.socket.emit("close");
  expect(onEnd).toHaveBeenCalledTimes(1);
  expect(clients.isAsking).toBe(false);
});
