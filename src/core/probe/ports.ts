// The port that a probe or hook means: a number, or the name of a port of the container.
// Mirrors kubelet v1.36 pkg/probe/util.go ResolveContainerPort.
import type {ContainerPort, IntOrString} from '../pod/types.js';

/** A probe or hook that cannot be made because its target makes no sense. */
export class ProbeTargetError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProbeTargetError';
  }
}

/** A port number from 1 to 65535. A name that no port has is tried as a number. Throws ProbeTargetError. */
export function resolveContainerPort(port: IntOrString, ports: readonly ContainerPort[] | undefined): number {
  const number = typeof port === 'number' ? port : (portByName(port, ports) ?? parseNumber(port));
  if (number > 0 && number < 65_536) return number;
  throw new ProbeTargetError(`invalid port number: ${number}`);
}

function portByName(name: string, ports: readonly ContainerPort[] | undefined): number | undefined {
  return ports?.find(port => (port.name ?? '') === name)?.containerPort;
}

function parseNumber(text: string): number {
  if (/^[+-]?[0-9]{1,18}$/.test(text)) return Number(text);
  throw new ProbeTargetError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}
