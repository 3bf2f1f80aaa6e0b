// Hooks and ports as the JSON that Go writes for the API's types: fields in the order of the type, zero values left out.
import type {ContainerPort, LifecycleHandler} from '../pod/types.js';

/** A lifecycle handler as one line of JSON. */
export function lifecycleHandlerJson({exec, httpGet, tcpSocket, sleep}: LifecycleHandler): string {
  return goJson({
    exec: exec && {command: nonEmpty(exec.command)},
    httpGet: httpGet && {
      path: nonZero(httpGet.path),
      port: httpGet.port,
      host: nonZero(httpGet.host),
      scheme: nonZero(httpGet.scheme),
      httpHeaders: nonEmpty(httpGet.httpHeaders?.map(({name, value}) => ({name, value}))),
    },
    tcpSocket: tcpSocket && {port: tcpSocket.port, host: nonZero(tcpSocket.host)},
    sleep: sleep && {seconds: sleep.seconds},
  });
}

/** The ports of a container as one line of JSON. */
export function containerPortsJson(ports: readonly ContainerPort[]): string {
  return goJson(
    ports.map(({name, hostPort, containerPort, protocol, hostIP}) => ({
      name: nonZero(name),
      hostPort: nonZero(hostPort),
      containerPort,
      protocol: nonZero(protocol),
      hostIP: nonZero(hostIP),
    })),
  );
}

function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function nonZero<T extends string | number>(value: T | undefined): T | undefined {
  return value === '' || value === 0 ? undefined : value;
}

function nonEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}
