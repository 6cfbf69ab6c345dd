import { ActionIcon, Button, CopyButton } from '@mantine/core'
import { IconBrandWhatsapp, IconCheck, IconCopy } from '@tabler/icons-react'
import { useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import type { LeadActions } from '../fields/change.ts'
import { type FieldContext, type FieldName, textOf } from '../fields/columns.tsx'
import { builtInField } from '../fields/edit-field.ts'
import { phoneInputText } from '../fields/lead.ts'
import { InPlace } from './InPlace.tsx'
import styles from './LeadPanel.module.css'

interface LeadFieldsProps {
  lead: Lead
  context: FieldContext
  actions: LeadActions
}

type GroupName = keyof typeof t.leadPage.groups

const groups: Record<GroupName, readonly FieldName[]> = {
  contact: ['firstName', 'lastName', 'phone', 'email'],
  deal: ['status', 'priority', 'assignedTo', 'estimatedValue', 'actualValue', 'notes'],
  origin: ['source', 'adPlatform', 'externalRef'],
}
const groupNames = Object.keys(groups) as GroupName[]

// Fields used for nearly every lead are shown even if empty.
const alwaysShown: readonly FieldName[] = ['lastName', 'phone', 'email', 'assignedTo', 'estimatedValue', 'notes']

/** Fields of a lead in groups, editable in place. Empty ones are collapsed. */
export function LeadFields({ lead, context, actions }: LeadFieldsProps) {
  const [isWhole, setWhole] = useState(false)
  const isEmpty = (field: FieldName) => textOf(lead, field) === '' && !alwaysShown.includes(field)
  const empty = Object.values(groups).flat().filter(isEmpty).length
  return (
    <section className={styles.fields} aria-label={t.leads.panel.details}>
      {groupNames.map((name) => (
        <fieldset key={name} className={styles.group}>
          <legend className={styles.legend}>{t.leadPage.groups[name]}</legend>
          {groups[name]
            .filter((field) => isWhole || !isEmpty(field))
            .map((field) => (
              <InPlace
                key={field}
                field={builtInField(field, lead, context)}
                save={(changes) => actions.change(lead, changes)}
                onDone={field === 'phone' && lead.phone !== null && <PhoneActions phone={lead.phone} />}
              />
            ))}
          {name === 'origin' && <Facts lead={lead} />}
        </fieldset>
      ))}
      {empty > 0 && (
        <Button
          className={styles.more}
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? t.leadPage.less : t.leadPage.more({ fields: empty })}
        </Button>
      )}
    </section>
  )
}

function Facts({ lead }: { lead: Lead }) {
  return (
    <dl className={styles.facts}>
      {(['uniqueCode', 'createdAt', 'updatedAt'] as const).map((fact) => (
        <div key={fact}>
          <dt>{t.leads.fields[fact]}</dt>
          <dd>{fact === 'uniqueCode' ? <code>{lead.uniqueCode}</code> : formatDateTime(lead[fact])}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Copies a phone, or opens it in WhatsApp. */
function PhoneActions({ phone }: { phone: string }) {
  const digits = phone.replace(/\D/g, '')
  return (
    <>
      <CopyButton value={phoneInputText(phone)}>
        {({ copied, copy }) => (
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={copy}
            aria-label={copied ? t.common.copied : t.leadPage.copyPhone}
          >
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </ActionIcon>
        )}
      </CopyButton>
      <ActionIcon
        component="a"
        href={`https://wa.me/${digits}`}
        target="_blank"
        rel="noreferrer"
        variant="subtle"
        color="gray"
        aria-label={t.leadPage.openWhatsapp}
      >
        <IconBrandWhatsapp size={14} />
      </ActionIcon>
    </>
  )
}
