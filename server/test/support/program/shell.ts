/** What a person's shell has: nothing of what runs the tests, since npm tells those whom it starts much of itself. */
export function shellEnvironment(more: Record<string, string>): NodeJS.ProcessEnv {
  const kept = [
    'HOME',
    'TMPDIR',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NODE_EXTRA_CA_CERTS',
    'npm_config_registry',
    'npm_config_cache',
  ]
  const own = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
  // What npm thinks of the settings of this machine is on no page.
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_loglevel: 'error' }
  return { ...Object.fromEntries(own), PATH: folders.join(':'), ...npm, ...more }
}
