import { Button, Stack } from '@mantine/core'
import { useEffect, useState } from 'react'
import { findProviders, providerStart } from '../data/team/sign-in.ts'
import { t } from '../text/index.ts'
import styles from './EntryCard.module.css'
import { entryProblem } from './use-entry-form.ts'

/** Says why a visit to an identity provider gave no session. */
export function SsoProblem() {
  const reason = new URLSearchParams(window.location.search).get('sso') ?? ''
  const problems: Record<string, string> = t.entry.sso
  const problem = Object.hasOwn(problems, reason) ? problems[reason] : undefined
  if (problem === undefined) return null
  return (
    <p className={`${styles.problem} ${styles.apart}`} role="alert">
      {problem}
    </p>
  )
}

/** A button for each identity provider. Those with domains of their own are found by the address, if there are several. */
export function ProviderButtons({ email, next }: { email: string; next: string }) {
  const texts = t.entry
  const [data, setData] = useState<Awaited<ReturnType<typeof findProviders>> | null>(null)
  // Without an answer, the form for the password works alone.
  useEffect(() => void findProviders().then(setData, () => {}), [])
  const [problem, setProblem] = useState<string | null>(null)
  const [found, setFound] = useState<readonly { id: string; name: string }[]>([])
  const open = (id: string) => window.location.assign(providerStart(id, next))
  if (data === null || (data.providers.length === 0 && !data.hasMore)) return null
  const find = async () => {
    setProblem(email.trim() === '' ? texts.needs.email : null)
    if (email.trim() === '') return
    try {
      const { providers } = await findProviders(email.trim())
      const others = providers.filter(({ id }) => data.providers.every((one) => one.id !== id))
      const [only] = others
      if (others.length === 1 && only !== undefined) return open(only.id)
      setFound(others)
      if (others.length === 0) setProblem(texts.noProvider)
    } catch (error) {
      setProblem(entryProblem(error))
    }
  }
  return (
    <Stack gap="xs" mt="md">
      <p className={styles.or}>{texts.or}</p>
      {[...data.providers, ...found].map(({ id, name }) => (
        <Button key={id} variant="default" fullWidth onClick={() => open(id)}>
          {texts.continueWith({ name })}
        </Button>
      ))}
      {data.hasMore && (
        <Button variant="default" fullWidth onClick={() => void find()}>
          {texts.ssoEmail}
        </Button>
      )}
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </Stack>
  )
}
