// The health check of the image: ends well when this process can serve.
const port = process.env.PARLEY_PORT || process.env.PORT || '7007'
const { ok } = await fetch(`http://127.0.0.1:${port}/readyz`)
process.exit(ok ? 0 : 1)
