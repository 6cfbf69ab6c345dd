export interface ServerUser {
  uid?: number
  gid?: number
}

const nobody = 65534

/** PostgreSQL refuses to run as root, so root runs it as nobody; anyone else runs it as themselves. */
export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
}

/**
 * How PostgreSQL is told its data folder, which is also its working directory. The server's user may not be allowed
 * to walk the path down to it (a clone under /root): Linux lets it in through its working directory all the same.
 */
export function dataArgument(clusterFolder: string): string {
  return process.platform === 'linux' && process.getuid?.() === 0 ? '/proc/self/cwd' : clusterFolder
}

/** Little, and nothing of ours: a stray PG… variable would change what the server does. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot, TEMP } = process.env
  return { LC_ALL: 'C', TZ: 'UTC', ...(SystemRoot && { SystemRoot }), ...(TEMP && { TEMP }) }
}
