import manifest from '../../../package.json' with { type: 'json' }

/** Version of Parley from its package.json. */
export const version: string = manifest.version

/** Shared info of the OpenAPI and other documents. */
export const documentInfo = {
  version,
  contact: { name: 'Parley' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}
