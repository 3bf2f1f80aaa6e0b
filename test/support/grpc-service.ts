// Generated service definitions in the form that grpc-js servers take.
import type {ServiceDefinition} from '@grpc/grpc-js';
import type {Codec} from '../../src/cri/grpc-channel.js';

export interface AnyMethod {
  readonly name: string;
  // The codecs of a service's methods have nothing in common but their shape.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly requestType: Codec<any>;
  readonly requestStream: boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly responseType: Codec<any>;
  readonly responseStream: boolean;
}

/** A service of src/cri/gen, e.g. RuntimeServiceDefinition. */
export interface AnyService {
  readonly name: string;
  readonly fullName: string;
  readonly methods: Readonly<Record<string, AnyMethod>>;
}

/** Keys are the methods' camelCase names. */
export function serviceDefinition(service: AnyService): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service.methods).map(([key, method]) => [
      key,
      {
        path: `/${service.fullName}/${method.name}`,
        requestStream: method.requestStream,
        responseStream: method.responseStream,
        requestSerialize: (message: unknown) => encode(method.requestType, message),
        requestDeserialize: (bytes: Buffer): unknown => method.requestType.decode(bytes),
        responseSerialize: (message: unknown) => encode(method.responseType, message),
        responseDeserialize: (bytes: Buffer): unknown => method.responseType.decode(bytes),
      },
    ]),
  );
}

function encode(codec: Codec<unknown>, message: unknown): Buffer {
  return Buffer.from(codec.encode(message).finish());
}
