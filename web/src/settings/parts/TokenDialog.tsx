import { Button, Group, Stack, Text } from '@mantine/core'
import { Copyable } from '../../ui/Copyable.tsx'
import { Dialog } from '../../ui/overlay/Dialog.tsx'

interface TokenDialogProps {
  title: string
  help: string
  value: string
  /** Name of the value. */
  label: string
  /** Label of the button. */
  action: string
  close(): void
}

/** Shows a token, once. Only its button closes it. */
export const TokenDialog = ({ title, help, value, label, action, close }: TokenDialogProps) => (
  <Dialog
    close={close}
    title={title}
    size={600}
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
    <Stack gap="md">
      <Text size="md">{help}</Text>
      <Copyable value={value} label={label} />
      <Group justify="flex-end">
        <Button onClick={close} data-autofocus>
          {action}
        </Button>
      </Group>
    </Stack>
  </Dialog>
)
