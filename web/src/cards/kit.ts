/** The building blocks of cards. A card from another package gets them in its context and needs no import. */

import { h, hiddenText } from "../kit/dom";
import { icon } from "../kit/icons";
import { keycap } from "../kit/keyboard";
import { capitalised } from "../kit/kinds";
import { itemName, itemText, itemView, shownName } from "./item";
import { verdict } from "./verdict";

export const kit = { h, hiddenText, icon, keycap, capitalised, itemName, itemText, itemView, shownName, verdict };

export type Kit = typeof kit;
