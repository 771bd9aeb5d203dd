import { Check, ChevronDown } from "lucide-react";
import { useState, type ReactNode } from "react";
import {
  Autocomplete,
  Button as AriaButton,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField,
  Select as AriaSelect,
  SelectValue,
  useFilter,
} from "react-aria-components";

import { useText } from "../i18n/translate";
import { FieldMessages, type FieldProps } from "./FieldMessages";
import { LongList } from "./LongList";
import "./fields.css";

/** A list of more options than these can be searched, and has only those in sight in the document. */
const MAX_WITHOUT_SEARCH = 20;

interface SelectOption {
  /** An empty text is no key of a list. */
  id: `=${string}`;
  name: string;
  icon: ReactNode;
}

interface SelectProps<T extends string> extends FieldProps {
  value: T;
  /** Values with their names, and what is drawn before a name. */
  options: readonly (readonly [T, string, ReactNode?])[];
  onChange: (value: T) => void;
}

/** One of several values, chosen from a list that opens below. */
export function Select<T extends string>(props: SelectProps<T>) {
  const { label, hint, error, value, options, onChange, isDisabled = false } = props;
  const text = useText();
  const [isOpen, setOpen] = useState(false);
  const isLong = options.length > MAX_WITHOUT_SEARCH;
  // The items of a closed list are drawn too, for its value: the one that is chosen will do.
  const items = (isLong && !isOpen ? options.filter(([id]) => id === value) : options).map(
    ([id, name, icon]): SelectOption => ({ id: `=${id}`, name, icon }),
  );
  const list = (
    <ListBox className="select-list" items={items} renderEmptyState={() => <NoOptions />}>
      {(item) => (
        <ListBoxItem id={item.id} textValue={item.name} className="menu-item select-option">
          {({ isSelected }) => (
            <>
              {item.icon}
              <span dir="auto">{item.name}</span>
              {isSelected && <Check size={16} aria-hidden="true" />}
            </>
          )}
        </ListBoxItem>
      )}
    </ListBox>
  );
  return (
    <AriaSelect
      className="field select-field"
      value={`=${value}`}
      onChange={(key) => key !== null && onChange(String(key).slice(1) as T)}
      isOpen={isOpen}
      onOpenChange={setOpen}
      isDisabled={isDisabled}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      placeholder={text("component.select")}
    >
      <Label className="field-label">{label}</Label>
      <AriaButton className="select-button">
        <SelectValue className="select-value" dir="auto">
          {({ selectedText, defaultChildren }) =>
            selectedText ? (
              <>
                {items.find((item) => item.id === `=${value}`)?.icon}
                {selectedText}
              </>
            ) : (
              defaultChildren
            )
          }
        </SelectValue>
        <ChevronDown size={16} aria-hidden="true" />
      </AriaButton>
      <FieldMessages hint={hint} error={error} />
      <Popover className="menu-popover select-popover">{isLong ? <Searched>{list}</Searched> : list}</Popover>
    </AriaSelect>
  );
}

/** A long list with a field that filters it. */
function Searched({ children }: { children: ReactNode }) {
  const text = useText();
  const { contains } = useFilter({ sensitivity: "base" });
  return (
    <Autocomplete filter={contains}>
      {/* On a phone, the keyboard would hide the list. */}
      <SearchField
        className="search-field"
        aria-label={text("field.picker.search")}
        autoFocus={!matchMedia("(pointer: coarse)").matches}
      >
        <Input placeholder={text("field.picker.search")} dir="auto" />
      </SearchField>
      <LongList>{children}</LongList>
    </Autocomplete>
  );
}

function NoOptions() {
  const text = useText();
  return <span className="picker-empty">{text("field.picker.none")}</span>;
}
