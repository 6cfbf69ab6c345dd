import { loadConfig } from '../../config.ts'
import { answer } from '../terminal.ts'
import { requireMasterKeys } from './master-keys.ts'
import { proofLines, prove } from './proof.ts'
import { openEmbedded } from './source.ts'

/** `parley prove`: says what it found, and ends with 1 when anything is wrong. */
export async function proveInstallation({ json }: { json?: boolean }): Promise<void> {
  const config = loadConfig(process.env)
  const masterKeys = requireMasterKeys(config)
  const { address, directAddress } = config.database
  const external = directAddress ?? address
  const source = external === null ? await openEmbedded(config) : { address: external, close: async () => {} }
  try {
    const proof = await prove({ config, address: source.address, masterKeys })
    answer(json, proof, proofLines(proof))
    if (proof.findings.length > 0) process.exitCode = 1
  } finally {
    await source.close()
  }
}
