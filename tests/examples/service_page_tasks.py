#!/usr/bin/env python3
# service_page_tasks.py: the page's view of the tasks in a headless Chromium.
# SPDX-License-Identifier: MIT
"""service_page_tasks.py PUZZLE_SERVICE SCREENSHOT_FOLDER [unittest arguments]

As service_page.py, whose browser it uses.
"""
import json
import sys
import unittest

import service_page
from service_page import By, Keys
from service_process import request

ENDLESS = {"puzzle": "queens", "n": 22, "count": True}


class TasksView(service_page.Page):
    def open_view(self):
        self.visit("klotski")
        self.one("#tasks > summary").click()
        self.until("tasks", lambda: self.rows())

    def rows(self):
        """(name, how many, what it does, since when, where spawned), as they are shown."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('#tasks-list .group')].map(row => ['.who', '.many', '.does', '.since', '.place']"
            ".map(part => row.querySelector(part).innerText.trim()))")

    def count_of(self, name):
        return sum(int(many) for who, many, *_ in self.rows() if who == name)

    def threads(self, role):
        return self.browser.execute_script(
            "const group = [...document.querySelectorAll('.threads')].find(each => each.querySelector('b').textContent === arguments[0]);"
            "return group ? [...group.querySelectorAll('li')].map(each => each.textContent) : []", role)

    def looks(self):
        return self.browser.execute_script(
            "return performance.getEntriesByType('resource').filter(each => each.name.includes('/debug/')).length")

    def hold_looks(self):
        """From here on what is shown stays: the next look is never answered."""
        self.browser.execute_script("window.fetch = () => { window.holds = true; return new Promise(() => {}) }")
        self.until("a look that is held", lambda: self.browser.execute_script("return window.holds === true"))

    def events_seen(self):
        return self.browser.execute_script("return document.querySelector('.chart polyline').getAttribute('points').split(' ').length")

    def test_tasks_come_and_go_by_name_with_how_many_they_are(self):
        self.open_view()
        self.until("the page's own", lambda: self.count_of("GET /events") == 1 and self.count_of("GET /debug/tasks") == 1)
        self.assertRegex(self.text("#tasks-count"), r"^\d+ live: \d+ wait, \d+ run, \d+ ready$")
        mine = self.count_of("connection")
        clients = [self.service.connect() for _ in range(30)]
        for client in clients:
            client.send(request("GET", "/stats"))
            client.answer()
        self.until("30 more", lambda: self.count_of("connection") >= 30)
        _, _, does, _, place = next(row for row in self.rows() if row[0] == "connection" and int(row[1]) >= 30)
        self.assertRegex(does, r"^waits for I/O .*read, time limit in [0-9.]+ m?s$")
        self.assertRegex(place, r"^server\.cpp:\d+$")
        self.until("ages", lambda: all(row[3] != "new" for row in self.rows() if row[0] == "service"))
        self.screenshot("tasks")
        for client in clients:
            client.socket.close()
        self.until("their end", lambda: self.count_of("connection") <= mine + 6)  # the browser keeps some of its own

    def test_a_search_is_seen_on_the_workers_that_run_it(self):
        with self.service.connect() as busy:
            self.open_view()
            self.until("idle workers, or none yet", lambda: all("idle" in each for each in self.threads("Workers")))
            busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
            self.until("the search", lambda: self.count_of("POST /solve") == 1)
            self.until("its worker", lambda: any("POST /solve" in each for each in self.threads("Workers")))
            self.until("the look itself", lambda: any("GET /debug/tasks" in each for each in self.threads("Threads for calls that block")))
            self.screenshot("tasks-search")

    def test_what_a_task_awaits_can_be_opened_and_stays_open(self):
        self.open_view()
        self.one("[data-name='keeps answers'] summary").send_keys(Keys.ENTER)
        before = self.looks()
        self.until("further looks", lambda: self.looks() >= before + 4)
        self.assertRegex(self.text("[data-name='keeps answers'] ol"), r"service::answer_keeper::|\+0x")  # without elfutils there are no names
        focused = self.browser.switch_to.active_element
        self.assertEqual((focused.tag_name, focused.text), ("summary", "waits for an event"))
        focused.send_keys(Keys.ENTER)
        self.assertFalse(self.one("[data-name='keeps answers'] ol").is_displayed())

    def test_it_asks_only_while_it_is_open(self):
        self.visit("klotski")
        self.until("some events", lambda: self.events_seen() >= 4)
        self.assertEqual(self.looks(), 0)
        self.one("#tasks > summary").click()
        self.until("looks", lambda: self.looks() >= 2)
        self.one("#tasks > summary").click()
        self.until("a closed view", lambda: not self.one("#tasks-list").is_displayed())
        before, heard = self.looks(), self.events_seen()
        self.until("as many events as come within some looks", lambda: self.events_seen() >= heard + 12)
        self.assertLessEqual(self.looks(), before + 1)  # one was under way

    def test_advice_is_shown_as_it_was_said(self):
        self.visit("klotski")
        self.browser.execute_script(
            "const real = window.fetch; window.advice = ['worker 3 has run <b>one</b> task\\n  spawned at x.cpp:1\\n', 'a second one'];"
            "window.fetch = (path, more) => path === '/debug/advice' ? Promise.resolve(new Response(JSON.stringify({advice: window.advice})))"
            " : real(path, more)")
        self.one("#tasks > summary").click()
        self.until("advice", lambda: self.one("#advice").is_displayed())
        said = [each.text for each in self.browser.find_elements(By.CSS_SELECTOR, "#advice li")]
        self.assertEqual([" ".join(each.split()) for each in said], ["worker 3 has run <b>one</b> task spawned at x.cpp:1", "a second one"])
        self.browser.execute_script("document.getElementById('tasks').scrollIntoView()")
        self.screenshot("tasks-advice")
        self.browser.execute_script("window.advice = []")
        self.until("no more advice", lambda: not self.one("#advice").is_displayed())

    def test_a_phone_shows_cards_without_scrolling_sideways(self):
        clients = [self.service.connect() for _ in range(5)]
        clients[0].send(request("POST", "/solve", json.dumps(ENDLESS)))
        self.as_on_a_phone(1400)
        self.open_view()
        self.until("the search", lambda: self.count_of("POST /solve") == 1)
        self.browser.execute_script("for (const each of document.querySelectorAll('#tasks-list details')) each.open = true;"
                                    "document.getElementById('tasks').scrollIntoView()")
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 360)
        cut = self.browser.execute_script(
            "return [...document.querySelectorAll('#tasks *')].filter(each => each.offsetParent && each.getClientRects().length &&"
            "(each.getBoundingClientRect().right > 360 || each.getBoundingClientRect().left < 0)).map(each => each.outerHTML)")
        self.assertEqual(cut, [])
        self.screenshot("phone-tasks")
        for client in clients:
            client.socket.close()

    def test_its_controls_have_names_and_all_of_it_comes_from_the_service(self):
        self.open_view()
        self.hold_looks()
        for control in self.browser.find_elements(By.CSS_SELECTOR, "#tasks summary, #tasks a, #tasks ul"):
            if control.is_displayed():
                self.assertTrue(control.accessible_name or control.text, control.get_attribute("outerHTML"))
        loaded = self.browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
        self.assertEqual([name for name in loaded if not name.startswith(f"http://127.0.0.1:{self.service.port}/")], [])

    def test_a_service_that_has_gone_is_noticed(self):
        self.open_view()
        self.service.stop()
        self.until("words", lambda: "does not answer" in self.text("#tasks-note"))


class NotTold(service_page.Page):
    OPTIONS = ("--no-debug",)

    def test_a_service_that_does_not_tell_says_so(self):
        self.visit("klotski")
        self.one("#tasks > summary").click()
        self.until("words", lambda: "does not tell of its tasks" in self.text("#tasks-note"))
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#tasks-list .group"), [])


if __name__ == "__main__":
    service_page.PROGRAM, service_page.FOLDER = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
