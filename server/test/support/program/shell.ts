/** Returns the environment of a user's shell, without the variables that npm sets for the test process. */
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
  // Output of npm about this machine's settings is in no document.
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_loglevel: 'error' }
  return { ...Object.fromEntries(own), PATH: folders.join(':'), ...npm, ...more }
}
