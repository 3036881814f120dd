import { Socket } from "node:net";
import { createKubeletClients } from "../../../src/registrar/registration/kubelet-clients";

const clientWith = (authority: string) => ({ socket: new Socket(), authority: () => authority });

test("once kubelet is known, the end of another client's connection is not waited for", () => {
  const clients = createKubeletClients();
  const [kubelet, other] = [clientWith("%2Fk%2Fx-reg.sock"), clientWith("localhost")];
  for (const client of [other, kubelet]) clients.asked(client);
  expect(clients.isAsking).toBe(true);
  clients.reported(kubelet);
  expect(clients.isAsking).toBe(false);
  clients.asked(other);
  expect(clients.isAsking).toBe(false);
});

test("a connection has one listener, however often kubelet calls, and its end is one event", () => {
  const clients = createKubeletClients();
  const kubelet = clientWith("%2Fk%2Fx-reg.sock");
  const onEnd = jest.fn();
  clients.onEnd(onEnd);
  clients.asked(kubelet);
  const before = kubelet.socket.listenerCount("close");
  for (let call = 0; call < 20; call++) {
    if (call % 2 > 0) clients.reported(kubelet);
    clients.asked(kubelet);
  }
  expect(kubelet.socket.listenerCount("close")).toBe(before);
  kubelet.socket.emit("close");
  expect(onEnd).toHaveBeenCalledTimes(1);
  expect(clients.isAsking).toBe(false);
});
