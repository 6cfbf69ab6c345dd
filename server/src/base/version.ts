import manifest from '../../../package.json' with { type: 'json' }

/** Parley's own version, as in its package.json. */
export const version: string = manifest.version
