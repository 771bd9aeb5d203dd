import {
  Car,
  Flag,
  Heart,
  Lightbulb,
  PawPrint,
  Smile,
  Trophy,
  UserRound,
  Utensils,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useState, type RefObject } from "react";
import { Button as AriaButton } from "react-aria-components";

import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";

/** The categories of the standard emojis, in their order. */
const CATEGORIES: readonly (readonly [LucideIcon, MessageId])[] = [
  [Smile, "composer.emoji.category.0"],
  [UserRound, "composer.emoji.category.1"],
  [PawPrint, "composer.emoji.category.2"],
  [Utensils, "composer.emoji.category.3"],
  [Car, "composer.emoji.category.4"],
  [Trophy, "composer.emoji.category.5"],
  [Lightbulb, "composer.emoji.category.6"],
  [Heart, "composer.emoji.category.7"],
  [Flag, "composer.emoji.category.8"],
];
const CATEGORY = "[frimousse-category]";

/** Leads to the categories of the list of emojis, and marks the one in view. */
export function CategoryBar({ viewport }: { viewport: RefObject<HTMLDivElement | null> }) {
  const text = useText();
  const [current, setCurrent] = useState(0);
  const tops = () =>
    [...(viewport.current?.querySelectorAll<HTMLElement>(CATEGORY) ?? [])].map((each) => each.offsetTop);
  useEffect(() => {
    const list = viewport.current;
    const update = () => setCurrent(currentIndex(tops(), list?.scrollTop ?? 0));
    list?.addEventListener("scroll", update, { passive: true });
    return () => list?.removeEventListener("scroll", update);
    // The list stays as long as the picker does.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return (
    <div className="emoji-categories" role="group" aria-label={text("composer.emoji.categories")}>
      {CATEGORIES.map(([Icon, id], index) => (
        <AriaButton
          key={id}
          aria-label={text(id)}
          aria-current={index === current ? "true" : undefined}
          onPress={() => {
            const top = tops()[index];
            if (top !== undefined) {
              viewport.current?.scrollTo({ top });
              setCurrent(index);
            }
          }}
        >
          <Icon size={16} aria-hidden="true" />
        </AriaButton>
      ))}
    </div>
  );
}

/** The last of the categories, by where they begin, that has begun at a place of the list. */
export function currentIndex(tops: readonly number[], scrollTop: number): number {
  return Math.max(
    0,
    tops.findLastIndex((top) => top <= scrollTop + 1),
  );
}
