import { Button, CopyButton, Group, Stack, Text } from '@mantine/core'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import styles from './RecoveryCodes.module.css'

/** Shows the recovery codes, once. Only its button closes it. */
export function RecoveryCodes({ codes, close }: { codes: readonly string[]; close(): void }) {
  const texts = t.profile.twoFactor
  return (
    <Dialog
      close={close}
      title={texts.recovery}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="md">{texts.recoveryHelp}</Text>
        <ul className={styles.codes} aria-label={texts.recovery}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group justify="flex-end" gap="xs">
          <CopyButton value={codes.join('\n')}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? t.common.copied : texts.copyAll}
              </Button>
            )}
          </CopyButton>
          <Button onClick={close} data-autofocus>
            {texts.savedIt}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
