import { getChallenge } from "../../api/accounts";
import { trustedScript } from "../../gateway/trustedScripts";
import workerUrl from "./solver.worker?worker&url";

/** Get a challenge of the server and solve it in a worker. */
export async function proveWork(): Promise<string> {
  const challenge = await getChallenge();
  const worker = new Worker(trustedScript(workerUrl), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<string | null>) =>
        data === null ? reject(new Error("The challenge has no solution.")) : resolve(data);
      worker.onerror = () => reject(new Error("The challenge could not be solved."));
      worker.postMessage(challenge);
    });
  } finally {
    worker.terminate();
  }
}
