import { Button, Input } from '@mantine/core'
import { useState } from 'react'
import { StartPanel } from '../../shared/start/StartPanel.tsx'
import type { Addressee } from '../../shared/start/use-start.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { shownPhone } from '../parts/words.ts'
import styles from './NewConversation.module.css'
import { WhomField } from './WhomField.tsx'

interface NewConversationProps {
  open(conversationId: string): void
  close(): void
}

/** Writes to anybody: found by name, number or e-mail, or a number that nobody has yet. */
export default function NewConversation({ open, close }: NewConversationProps) {
  const [whom, setWhom] = useState<Addressee | null>(null)
  // What was typed is there again for whoever changes it.
  const [typed, setTyped] = useState('')
  const field = (problem: string | null) =>
    whom === null ? (
      <WhomField typed={typed} setTyped={setTyped} pick={setWhom} problem={problem} />
    ) : (
      <Input.Wrapper label={t.start.whom} labelElement="div" error={problem}>
        <div className={styles.chosen}>
          <Avatar name={whom.name} size={28} />
          <span className={styles.who}>
            <strong dir="auto">{whom.name}</strong>
            {shownPhone(whom.phone) !== whom.name && <span className={styles.hint}>{shownPhone(whom.phone)}</span>}
          </span>
          <Button variant="subtle" size="compact-sm" onClick={() => setWhom(null)}>
            {t.start.change}
          </Button>
        </div>
      </Input.Wrapper>
    )
  return <StartPanel title={t.inbox.start} whom={whom} whomField={field} open={open} close={close} />
}
