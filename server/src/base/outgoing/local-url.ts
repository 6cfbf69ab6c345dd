import { isIP } from 'node:net'

/** Where a process of this machine reaches a server that listens on this host. */
export function localUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`
  if (host === '::') return `http://[::1]:${port}`
  return isIP(host) === 6 ? `http://[${host}]:${port}` : `http://${host}:${port}`
}
