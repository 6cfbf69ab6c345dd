import { Button, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { identitiesKey, linkIdentity, type MyIdentities, unlinkIdentity, useMyIdentities } from '../data/team/sso.ts'
import { t } from '../text/index.ts'
import { timeAgo } from '../ui/format/time.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { CodeField, CurrentPassword, DialogForm } from './DialogForm.tsx'
import styles from './Sessions.module.css'

type Choice = MyIdentities['others'][number]

/** Identity providers with which the person can sign in; hidden if the installation has none. */
export function Identities() {
  const texts = t.profile.identities
  const query = useMyIdentities()
  const queries = useQueryClient()
  const [linking, setLinking] = useState<Choice | null>(null)
  const reason = new URLSearchParams(window.location.search).get('sso')
  const { data } = query
  if (data === undefined || data.identities.length + data.others.length === 0) return null
  const unlink = async ({ providerId, name }: MyIdentities['identities'][number]) => {
    await unlinkIdentity(providerId)
    showToast(texts.unlinked({ name }))
    await queries.invalidateQueries({ queryKey: identitiesKey })
  }
  return (
    <Section
      title={texts.title}
      help={texts.help}
      footer={data.others.map((one) => (
        <Button key={one.id} variant="default" onClick={() => setLinking(one)}>
          {texts.link({ name: one.name })}
        </Button>
      ))}
    >
      {reason !== null && (
        <Text role="alert" c="var(--bad)">
          {reason === 'taken' ? texts.taken : texts.failed}
        </Text>
      )}
      <QueryBoundary query={query} rows={1}>
        {({ identities }) =>
          identities.length === 0 ? (
            <Text>{texts.empty}</Text>
          ) : (
            <ul className={styles.list} aria-label={texts.title}>
              {identities.map((one) => (
                <li key={one.providerId} className={styles.row}>
                  <div className={styles.text}>
                    <strong>{one.name}</strong>
                    <span>{texts.used({ ago: timeAgo(one.lastUsedAt) })}</span>
                  </div>
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    color="red"
                    aria-label={texts.unlinkOf({ name: one.name })}
                    onClick={() => void unlink(one).catch(showError)}
                  >
                    {texts.unlink}
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </QueryBoundary>
      {linking !== null && <LinkDialog provider={linking} close={() => setLinking(null)} />}
    </Section>
  )
}

/** Asks for the password first: a stranger at an open browser could link an identity of their own. */
function LinkDialog({ provider: { id, name }, close }: { provider: Choice; close(): void }) {
  const texts = t.profile.identities
  const draft = useDraft({ password: '', code: '' })
  return (
    <DialogForm
      draft={draft}
      send={({ password, code }) => linkIdentity(id, { password, code: code.trim() })}
      done={(url) => window.location.assign(url)}
      title={texts.linkTitle({ name })}
      help={texts.linkHelp}
      action={t.profile.twoFactor.continue}
      close={close}
    >
      <CurrentPassword draft={draft} />
      <CodeField draft={draft} help={texts.codeHelp} />
    </DialogForm>
  )
}
