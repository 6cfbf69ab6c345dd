import manifest from '../../../package.json' with { type: 'json' }

/** Parley's own version, as in its package.json. */
export const version: string = manifest.version

/** What every document of an interface says of the program. */
export const documentInfo = {
  version,
  contact: { name: 'Parley' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}
