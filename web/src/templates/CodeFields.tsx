import { Button, Checkbox, NumberInput, Select, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import { emptyOtp, type TemplateOtp } from './code-texts.ts'
import styles from './Editor.module.css'
import { Count, type PartProps } from './editor-parts.tsx'

const types = ['copy_code', 'one_tap', 'zero_tap'] as const
const maxApps = 5
const defaultMinutes = 10

/** What can be chosen of a template for authentication: the platform writes its texts. */
export function CodeFields({ editor, limits, errorOf }: PartProps) {
  const texts = t.templates.editor.otp
  const otp = editor.content.otp ?? emptyOtp
  const set = (changes: Partial<TemplateOtp>) => editor.change({ otp: { ...otp, ...changes } })
  const { type, hasSecurityNote, expiresInMinutes: minutes } = otp
  const label = (field: 'buttonText' | 'autofillText') => (
    <>
      <TextInput
        label={texts[field]}
        description={texts.labelHelp}
        value={otp[field]}
        dir="auto"
        error={errorOf(`otp.${field}`)}
        onChange={({ currentTarget }) => set({ [field]: currentTarget.value })}
      />
      <div className={styles.tools}>
        <Count text={otp[field]} limit={limits?.buttonText} />
      </div>
    </>
  )
  return (
    <section className={styles.section} aria-label={texts.title}>
      <h2>{texts.title}</h2>
      <p className={styles.help}>{texts.help}</p>
      <Select
        label={texts.type}
        description={texts.typeHelp[type]}
        data={types.map((value) => ({ value, label: texts.types[value] }))}
        value={type}
        allowDeselect={false}
        onChange={(value) => value !== null && set({ type: value as TemplateOtp['type'] })}
      />
      <Checkbox
        label={texts.securityNote}
        checked={hasSecurityNote}
        onChange={({ currentTarget }) => set({ hasSecurityNote: currentTarget.checked })}
      />
      <Checkbox
        label={texts.expires}
        checked={minutes !== null}
        onChange={({ currentTarget }) => set({ expiresInMinutes: currentTarget.checked ? defaultMinutes : null })}
      />
      {minutes !== null && (
        <NumberInput
          label={texts.minutes}
          min={0}
          max={90}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          maxLength={4}
          value={minutes}
          error={errorOf('otp.expiresInMinutes')}
          onChange={(value) => set({ expiresInMinutes: Number(value) || 0 })}
        />
      )}
      {label('buttonText')}
      {type !== 'copy_code' && label('autofillText')}
      {type !== 'copy_code' && <AppFields otp={otp} set={set} errorOf={errorOf} />}
      {type === 'zero_tap' && (
        <Checkbox
          label={texts.terms}
          checked={otp.acceptsTerms}
          error={errorOf('otp.acceptsTerms')}
          onChange={({ currentTarget }) => set({ acceptsTerms: currentTarget.checked })}
        />
      )}
    </section>
  )
}

interface AppFieldsProps extends Pick<PartProps, 'errorOf'> {
  otp: TemplateOtp
  set(changes: Partial<TemplateOtp>): void
}

/** The Android apps that may receive the code. */
function AppFields({ otp: { apps }, set, errorOf }: AppFieldsProps) {
  const texts = t.templates.editor.otp
  const problem = errorOf('otp.apps')
  return (
    <>
      <ul className={styles.buttons}>
        {apps.map((app, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: apps are identified by position
          <li key={n} className={styles.button}>
            <TextInput
              label={texts.packageName}
              placeholder="com.example.shop"
              value={app.packageName}
              dir="ltr"
              error={errorOf(`otp.apps[${n}].packageName`)}
              onChange={({ currentTarget }) =>
                set({ apps: apps.with(n, { ...app, packageName: currentTarget.value.trim() }) })
              }
            />
            <TextInput
              label={texts.signatureHash}
              description={texts.signatureHelp}
              placeholder="K8a/AINcGX7"
              value={app.signatureHash}
              dir="ltr"
              error={errorOf(`otp.apps[${n}].signatureHash`)}
              onChange={({ currentTarget }) =>
                set({ apps: apps.with(n, { ...app, signatureHash: currentTarget.value.trim() }) })
              }
            />
            <Button size="compact-sm" variant="default" onClick={() => set({ apps: apps.filter((_, at) => at !== n) })}>
              {texts.removeApp}
            </Button>
          </li>
        ))}
      </ul>
      {problem !== undefined && (
        <p className={styles.refusal} role="alert">
          {problem}
        </p>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconPlus size={14} />}
        disabled={apps.length >= maxApps}
        onClick={() => set({ apps: [...apps, { packageName: '', signatureHash: '' }] })}
      >
        {texts.addApp}
      </Button>
    </>
  )
}
