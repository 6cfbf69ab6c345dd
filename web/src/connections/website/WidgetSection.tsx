import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Connection, useConnectionActions, useSimulatorUrl } from '../../data/connections.ts'
import { language, t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../detail/detail.module.css'
import { Section } from '../parts/Section.tsx'
import own from './widget.module.css'

/** How to show the chat on a site, what it looks like, and the secret that identifies visitors. */
export function WidgetSection({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const simulatorUrl = useSimulatorUrl(useWorkspaceId())
  const [isShown, setShown] = useState(false)
  const texts = t.connections.widget
  const { id, widget } = connection
  if (widget === null) return null
  const snippet = `<script async src="${widget.scriptUrl}" data-connection="${id}" data-color="${widget.color}"></script>`
  const isTriable = simulatorUrl !== null && widget.origins.includes(new URL(simulatorUrl).origin)
  return (
    <>
      <Section title={texts.section}>
        <p className={styles.muted}>{texts.snippetHelp}</p>
        <Copyable value={snippet} label={texts.snippet} />
        {widget.origins.length === 0 && <p className={styles.muted}>{texts.noSites}</p>}
        <div className={own.actions}>
          <Button variant="default" onClick={() => setShown(!isShown)} aria-expanded={isShown}>
            {texts.preview}
          </Button>
          {isTriable && (
            <Button component="a" variant="default" href={`${simulatorUrl}/site?connection=${id}`} target="_blank">
              {texts.demo}
            </Button>
          )}
        </div>
        {isShown && (
          <iframe
            // The settings are read when it loads.
            key={connection.updatedAt}
            className={own.preview}
            title={texts.preview}
            src={`/widget/frame/${id}?lang=${language}`}
          />
        )}
      </Section>
      {mayChange && <SecretSection connection={connection} hasSecret={widget.hasIdentitySecret} />}
    </>
  )
}

function SecretSection({ connection: { id }, hasSecret }: { connection: Connection; hasSecret: boolean }) {
  const { rotateSecret } = useConnectionActions(useWorkspaceId())
  const texts = t.connections.widget
  const rotate = useMutation({ mutationFn: () => rotateSecret(id), onError: showError })
  return (
    <Section title={texts.identity}>
      <p className={styles.muted}>{texts.identityHelp}</p>
      {rotate.data === undefined ? (
        <Button variant="default" onClick={() => rotate.mutate()} loading={rotate.isPending}>
          {hasSecret ? texts.replaceSecret : texts.createSecret}
        </Button>
      ) : (
        <>
          <Copyable value={rotate.data.secret} label={texts.secret} />
          <p className={styles.muted}>{texts.secretOnce}</p>
        </>
      )}
    </Section>
  )
}
